/** Limits concurrency per party and in total. */

/** A caller, an address or an organization with a share of its own. */
export interface Party {
  readonly key: string;
  readonly most: number;
}

/**
 * The result of entering: admitted until `leave`, or refused. `full` is the party whose share is used up, or
 * null if the total is.
 */
export type Admission = { readonly leave: () => void } | { readonly full: Party | null };

export interface ConcurrencyLimiter {
  /** Returns the weight of everything that is admitted now. */
  admittedWeight(): number;
  /**
   * Adds `weight` to the share of each party, or to none of them if one share or the total is used up.
   * Calling `leave` again has no effect.
   */
  acquire(parties: readonly Party[], weight?: number): Admission;
}

export function createConcurrencyLimiter(maxTotalWeight: number): ConcurrencyLimiter {
  const sizes = new Map<string, number>();
  let all = 0;
  const add = (parties: readonly Party[], weight: number): void => {
    all += weight;
    for (const { key } of parties) {
      const size = (sizes.get(key) ?? 0) + weight;
      if (size > 0) sizes.set(key, size);
      else sizes.delete(key);
    }
  };
  return {
    admittedWeight: () => all,
    acquire: (parties, weight = 1) => {
      const met = parties.find((party) => (sizes.get(party.key) ?? 0) + weight > party.most);
      if (met !== undefined) return { full: met };
      if (all + weight > maxTotalWeight) return { full: null };
      add(parties, weight);
      let isIn = true;
      return {
        leave: () => {
          if (isIn) add(parties, -weight);
          isIn = false;
        },
      };
    },
  };
}
