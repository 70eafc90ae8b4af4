// How many retries may fail before everybody stops retrying?

/** Tokens that a node starts with and can save up: so many retries may fail at once. A guess. */
export const retryReserve = 10;
/** Tokens that each request brings: of ten requests one may be retried in vain. With the reserve below 1.2 × (issue 6). */
export const retryShare = 0.1;
/** Retries that run at once, so that workers that hang instead of failing are not piled upon either. A guess. */
export const retriesRunningMax = 256;

/** One retry that runs. */
export interface RetryTicket {
  /** It was answered: it cost nothing. Later calls do nothing. */
  succeeded(): void;
  /** It failed as well. Later calls do nothing. */
  failed(): void;
}

/**
 * Caps what retries add to the load when nothing helps. A retry that succeeds is free, so the loss of one worker
 * with hundreds of requests is retried in full; one that fails costs a token, and each request brings a tenth of
 * one, so when every worker refuses, there are about 1.1 attempts per request. The idea is Finagle's `RetryBudget`,
 * except that there successful retries cost as well.
 */
export class RetryBudget {
  #tokens = retryReserve;
  #runningCount = 0;

  /** A new request, not a retry. */
  requested(): void {
    this.#tokens = Math.min(retryReserve, this.#tokens + retryShare);
  }

  /** Whether a retry may begin now. Those that run cost nothing yet: most of them succeed. */
  get isOpen(): boolean {
    return this.#tokens >= 1 && this.#runningCount < retriesRunningMax;
  }

  /** A retry begins. The caller must settle the ticket in every case. */
  started(): RetryTicket {
    this.#runningCount++;
    let isSettled = false;
    const settle = (cost: number): void => {
      if (isSettled) return;
      isSettled = true;
      this.#runningCount--;
      this.#tokens = Math.max(0, this.#tokens - cost);
    };
    return { succeeded: () => settle(0), failed: () => settle(1) };
  }

  /** Tokens left, for metrics and tests. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Retries that run now. */
  get runningCount(): number {
    return this.#runningCount;
  }
}
