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

let questions: readonly Question[] = [];
const watchers = new Set<() => void>();

function change(next: readonly Question[]): void {
  questions = next;
  for (const changed of watchers) changed();
}

export const subscribe = (changed: () => void): (() => void) => {
  watchers.add(changed);
  return () => watchers.delete(changed);
};
export const currentQuestion = (): Question | null => questions[0] ?? null;

/**
 * Asks the person a question. `onAsked` receives the question object, through which code outside the dialog
 * can answer it too.
 */
export const ask = (kind: QuestionKind, onAsked?: (question: Question) => void): Promise<boolean> =>
  new Promise((resolve) => {
    const question: Question = {
      kind,
      answer: (isYes) => {
        change(questions.filter((one) => one !== question));
        resolve(isYes);
      },
    };
    change([...questions, question]);
    onAsked?.(question);
  });
