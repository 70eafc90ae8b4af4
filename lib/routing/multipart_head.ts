// What do the header of a form and the headers of its parts say?

/** RFC 2046 allows 70 characters; some clients take more. */
const boundaryCharsMax = 200;

/** One parameter of a header's value: a name, then a token or a quoted text. */
const parameterPattern = /;\s*([^\s;=]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/gs;

/** One part of a form, as far as matching needs it. */
export type FormField = { readonly name: string; readonly isFile: boolean };

/** Whether a body of this type is read as a form. */
export function isMultipartForm(contentType: string): boolean {
  return /^\s*multipart\/form-data\s*(?:;|$)/i.test(contentType);
}

/**
 * The boundary of a `Content-Type`, quoted or not.
 * @returns `undefined` when there is none, it is empty, too long, or not ASCII text.
 */
export function boundaryOf(contentType: string): string | undefined {
  const boundary = parameterOf(contentType, "boundary");
  if (boundary === undefined || boundary.length > boundaryCharsMax) return undefined;
  return /^[\x20-\x7e]+$/.test(boundary) && !boundary.endsWith(" ") ? boundary : undefined;
}

/**
 * The field of a part from its headers.
 * @param head Bytes of the headers, lines ended by CR LF, already bounded.
 * @returns `undefined` when no `Content-Disposition: form-data` names a field.
 */
export function fieldOf(head: Uint8Array): FormField | undefined {
  for (const line of new TextDecoder().decode(head).split("\r\n")) {
    const colon = line.indexOf(":");
    if (line.slice(0, colon).trim().toLowerCase() !== "content-disposition") continue;
    const value = line.slice(colon + 1);
    if (!/^\s*form-data\s*(?:;|$)/i.test(value)) return undefined;
    const name = parameterOf(value, "name");
    if (name === undefined) return undefined;
    const isFile = parameterOf(value, "filename") !== undefined ||
      parameterOf(value, "filename*") !== undefined;
    return { name, isFile };
  }
  return undefined;
}

function parameterOf(value: string, wanted: string): string | undefined {
  for (const [, name, quoted, token] of value.matchAll(parameterPattern)) {
    if (name.toLowerCase() !== wanted) continue;
    // Browsers write a quote as %22 (WHATWG), mail programs as \" (RFC 2183).
    return quoted === undefined
      ? token
      : quoted.replace(/\\(.)/gs, "$1").replace(/%(22|0d|0a)/gi, (_, hex) => unescape(hex));
  }
  return undefined;
}

function unescape(hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}
