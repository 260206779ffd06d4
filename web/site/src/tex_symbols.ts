// The commands of TeX that stand for one character or one name.

const letters = "alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ " +
  "upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω infty ∞ partial ∂ nabla ∇ ell ℓ hbar ℏ " +
  "emptyset ∅ varnothing ∅ aleph ℵ Re ℜ Im ℑ dots … ldots … cdots ⋯ vdots ⋮ ddots ⋱ prime ′ degree ° angle ∠ top ⊤ bot ⊥";
const operators = "cdot ⋅ times × div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet • oplus ⊕ otimes ⊗ leq ≤ le ≤ geq ≥ ge ≥ neq ≠ ne ≠ approx ≈ equiv ≡ sim ∼ simeq ≃ cong ≅ " +
  "propto ∝ ll ≪ gg ≫ in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ setminus ∖ land ∧ wedge ∧ lor ∨ vee ∨ lnot ¬ neg ¬ forall ∀ exists ∃ " +
  "to → rightarrow → leftarrow ← leftrightarrow ↔ Rightarrow ⇒ implies ⟹ Leftarrow ⇐ Leftrightarrow ⇔ iff ⟺ mapsto ↦ uparrow ↑ downarrow ↓ mid ∣ parallel ∥ perp ⊥ " +
  "int ∫ iint ∬ oint ∮ lbrace { rbrace } langle ⟨ rangle ⟩ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ vert | Vert ‖ colon : therefore ∴ because ∵";
/** Those whose limits stand below and above. */
const large = "sum ∑ prod ∏ coprod ∐ bigcup ⋃ bigcap ⋂ lim lim max max min min sup sup inf inf argmax argmax argmin argmin limsup limsup liminf liminf";
const functions = "sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan log ln lg exp det dim ker gcd deg Pr arg hom mod";

const table = (text: string) => {
  const words = text.split(" ");
  return new Map(words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1]!] as const] : [])));
};

export const LETTERS = table(letters);
export const OPERATORS = table(operators);
export const LARGE = table(large);
export const FUNCTIONS = new Set(functions.split(" "));
/** Marks above what follows. */
export const ACCENTS = table("hat ^ widehat ^ bar ¯ overline ¯ vec → tilde ~ widetilde ~ dot ˙ ddot ¨ overrightarrow →");
/** Spaces, in em. */
export const SPACES = table(", 0.17 : 0.22 ; 0.28 ! -0.17 quad 1 qquad 2 enspace 0.5 thinspace 0.17");
