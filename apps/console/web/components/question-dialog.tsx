import { useSyncExternalStore } from 'react';
import { signInConfirmedPath } from '../data/proof.ts';
import { currentQuestion, type Question, subscribeToQuestions } from '../data/questions.ts';
import { t } from '../messages/index.ts';
import { Dialog } from './dialog.tsx';

const returnPathParameter = `to=${encodeURIComponent(signInConfirmedPath)}`;

function confirmQuestion({ kind, answer }: Question): void {
  if (kind === 'leave' || kind === 'discard') answer(true);
  else
    window.open(
      kind === 'proof' ? `/sign-in?again&${returnPathParameter}` : `/sign-in?${returnPathParameter}`,
      'muster-proof',
    );
}

/** Shows the dialog for the pending question of `questions.ts`; renders nothing if no question is pending. */
export function QuestionDialog() {
  const question = useSyncExternalStore(subscribeToQuestions, currentQuestion);
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
            onClick={() => confirmQuestion(question)}
          >
            {words.yes}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
