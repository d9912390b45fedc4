/** The journeys on the board, in a real browser. All others are in journeys.long.spec.ts. */
import { describe } from '@jest/globals';
import { boardJourneys } from './board.journeys.ts';
import { useHouse } from './house.ts';

const house = useHouse();

describe('the board', () => boardJourneys(house));
