// `npx tokamak-node ARGUMENTS`: the program of the package for this platform, in place of this process where Node can do that.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { TokamakError } from "./errors.ts";
import { findProgram } from "./platform.ts";

type Execve = (file: string, args: string[], environment: NodeJS.ProcessEnv) => never;

function runAsChild(program: string, args: string[]): void {
  const child = spawn(program, args, { stdio: "inherit" });
  // A terminal sends Ctrl-C to both: the program decides when it ends.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`error: ${program} cannot be started: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (status, signal) => process.exit(status ?? 128 + (signal ? constants.signals[signal] : 0)));
}

/** Runs the program with arguments of the command line. */
export function runProgram(args: string[]): void {
  let program: string;
  try {
    program = findProgram();
  } catch (error) {
    if (!(error instanceof TokamakError)) throw error;
    console.error(`error: ${error.message}`);
    process.exit(1);
  }
  const { execve } = process as { execve?: Execve };
  if (execve) execve(program, [program, ...args], process.env);
  runAsChild(program, args);
}
