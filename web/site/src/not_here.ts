// The page for addresses that the site does not have.
import { startPage } from "./shell.ts";

startPage();
