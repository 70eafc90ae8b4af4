// Whom does a node list?
import type { NodeProcess } from "./node_process.ts";

/** What tests read of a row of `/v1/dnt/table`; other fields are there as well. */
export type TableRow = {
  readonly id: string;
  readonly role: readonly string[];
  readonly status: "alive" | "suspect" | "left";
  readonly service: readonly {
    readonly name: string;
    readonly identity_group: readonly string[];
  }[];
} & Readonly<Record<string, unknown>>;

/** The table of a node, by `/PEER`. */
export async function tableAt(
  node: Pick<NodeProcess, "http">,
  headers: Readonly<Record<string, string>> = {},
): Promise<Record<string, TableRow>> {
  return await (await fetch(`${node.http}/v1/dnt/table`, { headers })).json();
}
