/** Questions that interrupt the page, one at a time: a dialog of the frame asks them. */
export type QuestionKind = 'proof' | 'expired' | 'leave' | 'discard';

export interface Question {
  readonly kind: QuestionKind;
  /** Closes the dialog. A yes to `proof` and `expired` is given by signing in, in another window. */
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

/** `onAsked` gets the question, for answers that come from elsewhere than the dialog. */
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
