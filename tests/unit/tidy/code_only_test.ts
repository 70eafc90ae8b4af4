import { doesNotMatch, equal, match } from "node:assert/strict";
import { codeOnly } from "../../tidy/code_only.ts";

Deno.test("codeOnly blanks comments and keeps positions", () => {
  const text = "const a = 1; // await\n/* Date\n */ const b = 2;";
  const code = codeOnly(text);
  equal(code.length, text.length);
  equal(code.indexOf("const b"), text.indexOf("const b"));
  doesNotMatch(code, /await|Date/);
});

Deno.test("codeOnly blanks strings, escaped quotes and slashes in them included", () => {
  const code = codeOnly(`f("Deno \\" // Deno", 'fetch'); Deno.exit();`);
  equal(code.match(/Deno|fetch/g)?.length, 1);
});

Deno.test("codeOnly sees the code inside templates, however deep", () => {
  const code = codeOnly("const a = `fetch ${ f({ x: `Date ${now}` }) } performance`; crypto;");
  doesNotMatch(code, /fetch|Date|performance/);
  match(code, /f\(\{ x: .*now.* \}\)/);
  match(code, /crypto/);
});

Deno.test("codeOnly sees the code after an empty template", () => {
  match(codeOnly("const a = ``; await b; const c = ``;"), /await b/);
});

Deno.test("codeOnly takes a slash for a pattern only where an operand may begin", () => {
  doesNotMatch(codeOnly("x.replace(/Date['/]/g, y)"), /Date/);
  match(codeOnly("const half = (a + b) / 2 / Date;"), /Date/);
});
