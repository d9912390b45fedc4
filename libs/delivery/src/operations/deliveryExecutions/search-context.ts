/** Types of the search for the next story. */
import { type internalOperations, type ResultOf } from '@muster/contract';
import { type deliveryRegistry } from '@muster/delivery-registry';
import { type HandlerContext } from '@muster/runtime';

export type AcquireNextOperation = typeof deliveryRegistry.deliveryExecutions.acquireNext;
export type SearchContext = HandlerContext<AcquireNextOperation>;
/** A story that the caller could take, as the board read it. */
export type Candidate = ResultOf<typeof internalOperations.nextStories>['items'][number];
