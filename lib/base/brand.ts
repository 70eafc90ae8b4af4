// How does the type checker tell a checked value from a raw one?
declare const brand: unique symbol;

/** A `T` that was checked once, at the edge, and carries the name of that check in its type. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
