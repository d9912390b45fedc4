/** Plans that agents leave for people: code blocks with the language `muster-plan`, in a spec or a comment. */

const proposalPattern = /^(?<fence>`{3,}|~{3,})[ \t]*muster-plan\b[^\n]*\n(?<text>.*?)^\k<fence>/gms;

/** Returns the texts of the plans that a text proposes. */
export const findProposedPlans = (text: string): string[] =>
  [...text.matchAll(proposalPattern)].map(({ groups }) => groups?.['text'] ?? '');
