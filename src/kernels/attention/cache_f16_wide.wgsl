// A cache word holds eight neighbouring f16 elements.
alias CacheWord = vec4<u32>;

