/** How much of locks there may be at once, and be compared at once. */

/** Resources under live locks in one project: each grant is compared with all of them, while others wait. */
export const mostLocked = 5_000;

/**
 * Steps of one comparison, each a microsecond or two: the process answers no other caller meanwhile. What needs more is
 * refused, and can be had with simpler patterns.
 */
export const mostSteps = 60_000;

/** Steps for which holders are to be told of a grant; where they do not suffice, all of them are told. */
export const mostSignalSteps = 20_000;

/** So many conflicts are named; one is enough to be refused. */
export const mostConflicts = 50;
