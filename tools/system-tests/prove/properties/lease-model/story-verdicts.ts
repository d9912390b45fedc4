/** The contract's rules for a story's questions and status, and for the executions on it. */
import { type StoryName } from '../../board.ts';
import { type Name } from '../../team.ts';
import { type Model, moveStory, openOf, tell } from './model.ts';
import { done, mayBeDone, isViewer, refused, type Forecast } from './verdicts.ts';

export function answerQuestion(model: Model, story: StoryName, person: Name, resolved: boolean): Forecast {
  return done(() => {
    if (model.questionOpen[story] !== resolved) return {};
    model.questionOpen[story] = !resolved;
    if (!resolved) return {};
    tell(model, story, 'question_answered', person);
    for (const target of Object.values(model.targets)) {
      const execution = openOf(target);
      if (execution?.waitingFor !== story) continue;
      execution.waitingFor = null;
      if (execution.state === 'waiting_input') execution.state = 'leased';
    }
    return {};
  });
}

/**
 * Decides a change of status. Any change is allowed, except that a finished story must be reopened before it
 * can be reviewed or finished again.
 */
export function setStatus(model: Model, story: StoryName, person: Name, to: string): Forecast {
  if (isViewer(person)) return refused('forbidden');
  const from = model.status[story];
  const isFinished = from === 'done' || from === 'canceled';
  if (from !== to && isFinished && ['done', 'canceled', 'in_review'].includes(to))
    return refused('invalid_transition');
  if (from !== to && to === 'done' && !mayBeDone(model, story, person)) return refused('policy');
  return done(() => {
    moveStory(model, story, to, person);
    return {};
  });
}
