/** The limits on locks and on the work of comparing them. */

/**
 * The maximum number of resources under live locks in a project. Each grant is compared with all of them
 * while other callers wait.
 */
export const maxLockedResources = 5_000;

/**
 * The maximum number of steps of one comparison. A step takes one or two microseconds, during which the
 * process serves no other caller. A comparison that needs more is refused; simpler patterns avoid that.
 */
export const maxCompareSteps = 60_000;

/**
 * The maximum number of steps to find the holders that need a signal about a grant. If the search needs more
 * steps, every holder gets a signal.
 */
export const maxSignalSteps = 20_000;

/**
 * The maximum number of steps to compare a story with the work of others when the next story is chosen. A
 * story that needs more steps counts as in conflict.
 */
export const maxDispatchSteps = 10_000;

/**
 * The maximum number of steps to compare all stories of one search for the next story. Stories that the search
 * can no longer compare count as in conflict.
 */
export const maxSearchSteps = 60_000;

/** The maximum number of conflicts listed in a refusal. One conflict is enough to refuse. */
export const maxListedConflicts = 50;
