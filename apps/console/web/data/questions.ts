/** Questions that interrupt the page, one at a time. The frame shows them in a dialog. */
export type QuestionKind = 'proof' | 'expired' | 'leave' | 'discard';

export interface Question {
  readonly kind: QuestionKind;
  /**
   * Answers the question and closes the dialog. For `proof` and `expired`, the person says yes by signing in
   * in another window.
   */
  readonly answer: (isYes: boolean) => void;
}

let pendingQuestions: readonly Question[] = [];
const listeners = new Set<() => void>();

function setQuestions(newQuestions: readonly Question[]): void {
  pendingQuestions = newQuestions;
  for (const changed of listeners) changed();
}

export const subscribeToQuestions = (onChange: () => void): (() => void) => {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
};
export const currentQuestion = (): Question | null => pendingQuestions[0] ?? null;

/**
 * Asks the person a question. `onAsked` receives the question object, through which code outside the dialog
 * can answer it too.
 */
export const askQuestion = (kind: QuestionKind, onAsked?: (question: Question) => void): Promise<boolean> =>
  new Promise((resolve) => {
    const question: Question = {
      kind,
      answer: (isYes) => {
        setQuestions(pendingQuestions.filter((one) => one !== question));
        resolve(isYes);
      },
    };
    setQuestions([...pendingQuestions, question]);
    onAsked?.(question);
  });
