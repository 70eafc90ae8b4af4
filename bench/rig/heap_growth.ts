// Of which objects does a heap hold more than before?

/** What a heap snapshot of V8 says: nodes are rows of numbers, names are indices into `strings`. */
type Snapshot = {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[], ...unknown[]];
    };
  };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
};

/** Objects of one kind: by their constructor, closures by their function. */
export type Growth = { readonly kind: string; readonly count: number; readonly bytes: number };

type Kinds = Map<string, { count: number; bytes: number }>;

/** Their names are their contents. */
const namelessTypes = new Set([
  "string",
  "concatenated string",
  "sliced string",
  "number",
  "bigint",
]);

/** @returns What there is more of, the largest first. The files are of the size of the heap, times two. */
export async function heapGrowth(
  beforeFile: string,
  afterFile: string,
): Promise<readonly Growth[]> {
  const before = await kindsIn(beforeFile);
  const after = await kindsIn(afterFile);
  const growth: Growth[] = [];
  for (const [kind, { count, bytes }] of after) {
    const earlier = before.get(kind) ?? { count: 0, bytes: 0 };
    growth.push({ kind, count: count - earlier.count, bytes: bytes - earlier.bytes });
  }
  return growth.filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes);
}

async function kindsIn(file: string): Promise<Kinds> {
  const { snapshot: { meta }, nodes, strings }: Snapshot = JSON.parse(
    await Deno.readTextFile(file),
  );
  const at = (field: string) => meta.node_fields.indexOf(field);
  const [typeAt, nameAt, sizeAt] = [at("type"), at("name"), at("self_size")];
  const kinds: Kinds = new Map();
  for (let row = 0; row < nodes.length; row += meta.node_fields.length) {
    const type = meta.node_types[typeAt] as readonly string[];
    const typeName = type[nodes[row + typeAt]];
    const kind = namelessTypes.has(typeName)
      ? typeName
      : `${typeName} ${strings[nodes[row + nameAt]].slice(0, 60)}`;
    let sum = kinds.get(kind);
    if (sum === undefined) kinds.set(kind, sum = { count: 0, bytes: 0 });
    sum.count++;
    sum.bytes += nodes[row + sizeAt];
  }
  return kinds;
}
