import { useSyncExternalStore } from 'react';
import { provenPath } from '../data/proof.ts';
import { currentQuestion, type Question, subscribe } from '../data/questions.ts';
import { t } from '../messages/index.ts';
import { Dialog } from './dialog.tsx';

const to = `to=${encodeURIComponent(provenPath)}`;

function confirm({ kind, answer }: Question): void {
  if (kind === 'leave' || kind === 'discard') answer(true);
  else window.open(kind === 'proof' ? `/sign-in?again&${to}` : `/sign-in?${to}`, 'muster-proof');
}

/** Shows the dialog for the pending question of `questions.ts`; renders nothing if no question is pending. */
export function QuestionDialog() {
  const question = useSyncExternalStore(subscribe, currentQuestion);
  if (question === null) return null;
  const words = t.questions[question.kind];
  const decline = (): void => question.answer(false);
  return (
    <Dialog key={question.kind} label={words.title} onClose={decline}>
      <div className="dialog-body">
        <h2>{words.title}</h2>
        <p>{words.why}</p>
        {words.how && <p className="muted">{words.how}</p>}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={decline}>
            {words.no}
          </button>
          <button
            type="button"
            className="button"
            data-kind="main"
            autoFocus
            onClick={() => confirm(question)}
          >
            {words.yes}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
