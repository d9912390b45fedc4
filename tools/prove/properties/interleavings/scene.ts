/** What scenes are made of. */
import { type Interleaving } from './stage.ts';

/** So that each scene's own arrangement is known to its calls. */
export const scene = <Arranged>(of: Interleaving<Arranged>): Interleaving => ({
  ...of,
  left: (hand, arranged) => of.left(hand, arranged as Arranged),
  right: (hand, arranged) => of.right(hand, arranged as Arranged),
  between: async (at, arranged) => of.between?.(at, arranged as Arranged),
});

// Where the first one is held: all is locked and decided, and nothing is written yet.
export const grants = `update leases set state = 'held'`;
export const writes = 'update executions set';
