/** How much there is at once: of each party, and in all. */

/** A caller, an address or an organization with a share of its own. */
export interface Party {
  readonly key: string;
  readonly most: number;
}

/** Let in until `leave`; or not, since a party has its share, or (`null`) all together have theirs. */
export type Admission = { readonly leave: () => void } | { readonly full: Party | null };

export interface ConcurrencyLimiter {
  /** What is in it now. */
  size(): number;
  /** Takes from all parties or from none. To leave twice is to leave once. */
  enter(parties: readonly Party[], weight?: number): Admission;
}

export function createConcurrencyLimiter(most: number): ConcurrencyLimiter {
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
    size: () => all,
    enter: (parties, weight = 1) => {
      const met = parties.find((party) => (sizes.get(party.key) ?? 0) + weight > party.most);
      if (met !== undefined) return { full: met };
      if (all + weight > most) return { full: null };
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
