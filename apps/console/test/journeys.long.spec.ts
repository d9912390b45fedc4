/**
 * Runs all journeys except those of the board in one installation (`House`), because starting it takes longer
 * than most journeys.
 */
import { describe } from '@jest/globals';
import { accessJourneys } from './access.journeys.ts';
import { changesJourneys } from './changes.journeys.ts';
import { controlsJourneys } from './controls.journeys.ts';
import { dayJourneys } from './day.journeys.ts';
import { editJourneys } from './edit.journeys.ts';
import { editorJourneys } from './editor.journeys.ts';
import { exportsJourneys } from './exports.journeys.ts';
import { filesJourneys } from './files.journeys.ts';
import { focusJourneys } from './focus.journeys.ts';
import { useHouse } from './house.ts';
import { forcedJourneys } from './forced.journeys.ts';
import { keysJourneys } from './keys.journeys.ts';
import { offersJourneys } from './offers.journeys.ts';
import { pagesJourneys } from './pages.journeys.ts';
import { plansJourneys } from './plans.journeys.ts';
import { projectsJourneys } from './projects.journeys.ts';
import { runsJourneys } from './runs.journeys.ts';
import { settingsJourneys } from './settings.journeys.ts';
import { startJourneys } from './start.journeys.ts';
import { statesJourneys } from './states.journeys.ts';
import { storyJourneys } from './story.journeys.ts';
import { trailsJourneys } from './trails.journeys.ts';
import { undoJourneys } from './undo.journeys.ts';
import { usageJourneys } from './usage.journeys.ts';
import { unsavedJourneys } from './unsaved.journeys.ts';
import { viewsJourneys } from './views.journeys.ts';

const house = useHouse();

describe('keys', () => keysJourneys(house));
describe('the focus', () => focusJourneys(house));
describe('a story', () => storyJourneys(house));
describe('what is said', () => editJourneys(house));
describe('the editor', () => editorJourneys(house));
describe('unsaved text', () => unsavedJourneys(house));
describe('views', () => viewsJourneys(house));
describe('the first run', () => startJourneys(house));
describe('the pages', () => pagesJourneys(house));
describe('offers', () => offersJourneys(house));
describe('plans', () => plansJourneys(house));
describe('projects', () => projectsJourneys(house));
describe('runs', () => runsJourneys(house));
describe('attachments', () => filesJourneys(house));
describe('undo', () => undoJourneys(house));
describe('exports', () => exportsJourneys(house));
describe('changes', () => changesJourneys(house));
describe('usage', () => usageJourneys(house));
describe('trails', () => trailsJourneys(house));
describe('settings', () => settingsJourneys(house));
describe('access', () => accessJourneys(house));
describe('forced colours and small screens', () => forcedJourneys(house));
describe('a working day', () => dayJourneys(house));
describe('states', () => statesJourneys(house));
describe('controls', () => controlsJourneys(house));
