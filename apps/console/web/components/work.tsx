/** Shows the state of an execution by shape, word and color. */
import { type AgentResponse, type ExecutionState } from '@muster/contract';
import { t } from '../messages/index.ts';
import { Icon } from './icons.tsx';
import { projectKeyOf } from '../data/story-key.ts';

const toneByState: Record<ExecutionState, 'live' | 'wait' | 'bad' | 'good' | 'look' | 'none'> = {
  leased: 'live',
  waiting_input: 'wait',
  stalled: 'bad',
  offered: 'wait',
  submitted: 'look',
  available: 'none',
  completed: 'none',
};

const toneByResponse: Record<AgentResponse['state'], 'live' | 'wait' | 'none'> = {
  picked_up: 'live',
  busy: 'none',
  listening: 'none',
  no_runner: 'wait',
};

/** Returns the command that waits for requests to an agent, for the project of the story. */
export const runnerCommand = (storyKey: string): string =>
  `muster work --serve --project ${projectKeyOf(storyKey)} --agent claude`;

/** Shows the response of the agent that was asked to work on a story. */
export const AgentResponseLabel = ({ response: { agent, state } }: { readonly response: AgentResponse }) => {
  const text = t.agentResponse[state](agent.name);
  return (
    <span className="state" data-tone={toneByResponse[state]} title={text}>
      {state === 'no_runner' && <Icon name="warn" size={13} />}
      <span className="cut">{text}</span>
    </span>
  );
};

/** Marks a story on which work can start. */
export const StartMark = () => (
  <span className="card-start" title={t.filter.states.start}>
    <Icon name="start" size={12} />
    <span className="sr-only">{t.filter.states.start}</span>
  </span>
);

/** Returns true if work that was sent back is waiting for a holder. */
const needsHolder = (state: ExecutionState, needsRework: boolean): boolean =>
  needsRework && state !== 'leased';
export const workTone = (state: ExecutionState, needsRework: boolean) =>
  needsHolder(state, needsRework) ? 'bad' : toneByState[state];

export const WorkStateLabel = ({
  state,
  needsRework = false,
  isStopRequested = false,
}: {
  readonly state: ExecutionState;
  readonly needsRework?: boolean;
  /**
   * True if the holder of the work was asked to stop. For released work: true if the holder released it
   * because of that request.
   */
  readonly isStopRequested?: boolean;
}) => {
  if (isStopRequested && (state === 'leased' || state === 'waiting_input' || state === 'available'))
    return (
      <span className="state" data-tone={state === 'available' ? 'none' : 'wait'}>
        <Icon name="stop" size={13} />
        {state === 'available' ? t.stop.done : t.stop.waits}
      </span>
    );
  const isRework = needsHolder(state, needsRework);
  const tone = workTone(state, needsRework);
  return (
    <span className="state" data-tone={tone}>
      {tone === 'bad' ? <Icon name="warn" size={13} /> : <span className="pulse" data-state={state} />}
      {isRework ? t.needsRework : t.work[state]}
    </span>
  );
};
