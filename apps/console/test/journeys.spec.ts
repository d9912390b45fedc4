/** The journeys on the board and one of each new page, in a real browser. All others are in journeys.long.spec.ts. */
import { describe } from '@jest/globals';
import { boardJourneys } from './board.journeys.ts';
import { useHouse } from './house.ts';
import { firstViewJourneys } from './views.journeys.ts';

const house = useHouse();

describe('the board', () => boardJourneys(house));
describe('views', () => firstViewJourneys(house));
