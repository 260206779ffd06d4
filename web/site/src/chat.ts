import { mountOpener } from "./opener.ts";
import { startPage } from "./shell.ts";

startPage("index");
void mountOpener(() => undefined).start();
