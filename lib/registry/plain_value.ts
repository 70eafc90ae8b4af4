// What can a document of a claim hold?

/** Scalars, lists and maps: the values that Automerge and JSON share. */
export type Plain = string | number | boolean | null | readonly Plain[] | {
  readonly [key: string]: Plain;
};
export type PlainMap = { readonly [key: string]: Plain };

/** A list, as the type checker should see it. */
export function isList(value: Plain | undefined): value is readonly Plain[] {
  return Array.isArray(value);
}

/** A map, as the type checker should see it. */
export function isMap(value: Plain | undefined): value is PlainMap {
  return typeof value === "object" && value !== null && !isList(value);
}

/** Whether two values have the same content; `undefined` equals nothing else. */
export function isEqual(a: Plain | undefined, b: Plain | undefined): boolean {
  if (isList(a)) {
    return isList(b) && a.length === b.length && a.every((item, at) => isEqual(item, b[at]));
  }
  if (!isMap(a)) return a === b;
  const keys = Object.keys(a);
  return isMap(b) && keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
}
