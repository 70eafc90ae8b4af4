// What does each key hold, and who said so?
import { assert } from "../base/assert.ts";
import type { ConfigValue, ServiceValues } from "./key.ts";

/** Who set a value; later ones win. */
export type ConfigSource = "default" | "file" | "env" | "flag";

/** The value of a key and its origin. */
export type Origin = {
  readonly value: ConfigValue;
  readonly source: ConfigSource;
  /** `cfg.yaml:8:3`, `OF_PORT`, `--port`, or the source of the default. */
  readonly where: string;
  /** From where a relative path in the value starts. */
  readonly directory: string;
};

/** Every key's value, read by kind; asking for the wrong kind is our own mistake. */
export class Settings {
  constructor(readonly origins: ReadonlyMap<string, Origin>) {}

  origin(key: string): Origin {
    const origin = this.origins.get(key);
    assert(origin !== undefined, `"${key}" is a key of the schema`);
    return origin;
  }

  isExplicit(key: string): boolean {
    return this.origin(key).source !== "default";
  }

  text(key: string): string {
    const { value } = this.origin(key);
    assert(typeof value === "string", `"${key}" holds a text`);
    return value;
  }

  /** `null` when not set or empty. */
  optionalText(key: string): string | null {
    return this.origin(key).value === null ? null : this.text(key) || null;
  }

  number(key: string): number {
    const { value } = this.origin(key);
    assert(typeof value === "number", `"${key}" holds a number`);
    return value;
  }

  /** `null` when not set. */
  optionalNumber(key: string): number | null {
    return this.origin(key).value === null ? null : this.number(key);
  }

  bool(key: string): boolean {
    const { value } = this.origin(key);
    assert(typeof value === "boolean", `"${key}" holds true or false`);
    return value;
  }

  /** `null` when not set. */
  optionalBool(key: string): boolean | null {
    return this.origin(key).value === null ? null : this.bool(key);
  }

  list(key: string): readonly string[] {
    const { value } = this.origin(key);
    assert(Array.isArray(value), `"${key}" holds a list`);
    return value as readonly string[];
  }

  map(key: string): Readonly<Record<string, string>> {
    const { value } = this.origin(key);
    assert(typeof value === "object" && value !== null, `"${key}" holds a map`);
    return value as Readonly<Record<string, string>>;
  }

  services(): readonly ServiceValues[] {
    return this.origin("services").value as readonly ServiceValues[];
  }
}
