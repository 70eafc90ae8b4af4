// Which part of a TypeScript file is code, and not a comment, a string or a pattern?

/**
 * The text with comments, strings, template text and regular expressions blanked out, all positions kept.
 * A light scanner, not a parser: it takes a `/` for a pattern where an operand may begin, which is right for
 * formatted code.
 */
export function codeOnly(text: string): string {
  const out = text.split("");
  const blank = (from: number, to: number) => {
    for (let i = from; i < to; i++) if (out[i] !== "\n") out[i] = " ";
  };
  /** Open braces within each `${…}` that we are in. */
  const depths: number[] = [];
  let at = 0;
  let lastCode = "";
  /** From within template text to its end, or into the code of a `${`. */
  const skipTemplate = (from: number) => {
    let to = from;
    while (to < text.length && text[to] !== "`" && !text.startsWith("${", to)) {
      to += text[to] === "\\" ? 2 : 1;
    }
    const isCodeNext = text[to] === "$";
    if (isCodeNext) depths.push(0);
    lastCode = isCodeNext ? "{" : "x";
    at = to + (isCodeNext ? 2 : 1);
    blank(from - 1, at);
  };
  while (at < text.length) {
    const char = text[at];
    const rest = /^\/\/.*|^\/\*[\s\S]*?\*\//.exec(char === "/" ? text.slice(at) : "");
    if (rest) {
      blank(at, at += rest[0].length);
    } else if (char === '"' || char === "'") {
      const end = /^(["'])(?:\\[\s\S]|(?!\1).)*\1/.exec(text.slice(at))?.[0].length ?? 1;
      blank(at, at += end);
      lastCode = "x";
    } else if (char === "`") {
      skipTemplate(at + 1);
    } else if (char === "}" && depths.at(-1) === 0) {
      depths.pop();
      skipTemplate(at + 1);
    } else if (char === "/" && mayBeginOperand(text, at, lastCode)) {
      const end = /^\/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n])+\/[a-z]*/.exec(text.slice(at));
      blank(at, at += end?.[0].length ?? 1);
      lastCode = "x";
    } else {
      if (depths.length > 0 && char === "{") depths[depths.length - 1]++;
      if (depths.length > 0 && char === "}") depths[depths.length - 1]--;
      if (!/\s/.test(char)) lastCode = char;
      at++;
    }
  }
  return out.join("");
}

function mayBeginOperand(text: string, at: number, lastCode: string): boolean {
  if (lastCode === "" || "(,=:[!&|?{};+-*%<>~^".includes(lastCode)) return true;
  return /\b(?:return|typeof|case|in|of|yield|await)\s*$/.test(
    text.slice(Math.max(0, at - 12), at),
  );
}
