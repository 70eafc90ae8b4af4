// What does a pure machine return?

/** The next state, and what the caller is asked to do, in order. */
export type Step<State, Effect> = { readonly state: State; readonly effects: readonly Effect[] };
