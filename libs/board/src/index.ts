import { boardColumns } from './operations/boardColumns/handlers.ts';
import { comments } from './operations/comments/handlers.ts';
import { epics } from './operations/epics/handlers.ts';
import { projects } from './operations/projects/handlers.ts';
import { stories } from './operations/stories/handlers.ts';
import { storySpec } from './operations/storySpec/handlers.ts';

/** What this lib answers, by namespace. */
export const boardHandlers = { projects, boardColumns, epics, stories, storySpec, comments };

export { canMove, workflow } from './rules/workflow.ts';
