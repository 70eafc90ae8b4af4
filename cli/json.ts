// How does a value look to a program that reads us?

/**
 * One line of JSON. Names of fields are written as in the configuration and in the HTTP answers, `peer_id`, whatever
 * they are called inside.
 * @param value Plain data; its field names are ours, never a user's.
 */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value, (_, part) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(
      Object.entries(part).map(([name, field]) => [snakeCase(name), field]),
    );
  });
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
