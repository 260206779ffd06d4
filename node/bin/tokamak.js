#!/usr/bin/env node
import { runProgram } from "../dist/program.js";

runProgram(process.argv.slice(2));
