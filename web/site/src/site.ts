// The script of every page that is a view of this site's one document; the page's own one runs after it.
import { startRouter } from "./router.ts";
import { startPage } from "./shell.ts";

startPage();
startRouter();
