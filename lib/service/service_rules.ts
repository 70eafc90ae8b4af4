// By which rules is one service watched?
import type { ServiceConfig } from "../config/node_config.ts";

/** The part of a service's configuration that decides what is claimed and when. */
export type ServiceRules = Pick<
  ServiceConfig,
  | "name"
  | "healthIntervalMs"
  | "healthFailures"
  | "modelRefreshMs"
  | "identityGroups"
  | "retry"
  | "capacity"
  | "engine"
>;

/** Services of this name speak OpenAI's API, and their models are their identity groups, as in the original. */
export const llmServiceName = "llm";

/** Whether the model list of a service is asked for. */
export function servesModels(rules: Pick<ServiceRules, "name">): boolean {
  return rules.name === llmServiceName;
}
