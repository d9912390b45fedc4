/** What an execution is doing, by a shape, a word and a colour. */
import { type ExecutionState } from '@muster/registry';
import { t } from '../texts/index.ts';
import { Icon } from './icons.tsx';

export const toneOf: Record<ExecutionState, 'live' | 'wait' | 'bad' | 'good' | 'look' | 'none'> = {
  leased: 'live',
  waiting_input: 'wait',
  stalled: 'bad',
  offered: 'wait',
  submitted: 'look',
  available: 'none',
  completed: 'none',
};

export const WorkState = ({
  state,
  needsRework,
}: {
  readonly state: ExecutionState;
  readonly needsRework?: boolean;
}) => {
  const isRework = needsRework === true && state !== 'leased';
  const tone = isRework ? 'bad' : toneOf[state];
  return (
    <span className="state" data-tone={tone}>
      {tone === 'bad' ? <Icon name="warn" size={13} /> : <span className="pulse" data-state={state} />}
      {isRework ? t.needsRework : t.work[state]}
    </span>
  );
};
