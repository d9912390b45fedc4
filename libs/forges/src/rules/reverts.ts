/**
 * Merged changes that a pull request takes back, by the sentences that forges and git write for it: `Reverts acme/api#7`,
 * `This reverts merge request !7`, `This reverts commit <sha>`. Examples in code, quotes and comments revert nothing.
 */
const sentence =
  /^(?:Reverts (?<repository>[\w.-]+\/[\w.-]+)?#|This reverts merge request !)(?<number>\d{1,9})\b|^This reverts commit (?<sha>[0-9a-f]{40}|[0-9a-f]{64})\b/gim;
const notText = /<!--[\s\S]*?(?:-->|(?![\s\S]))|^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|(?![\s\S]))/gm;
const mostReverted = 20;

/** Numbers of pull requests of this repository, and full ids of merge commits. */
export function revertsIn(text: string | null | undefined, repository: string): string[] {
  const found = [...(text ?? '').replace(notText, '').matchAll(sentence)].flatMap(({ groups = {} }) => {
    const { repository: other, number, sha } = groups;
    const isHere = other === undefined || other.toLowerCase() === repository.toLowerCase();
    return isHere ? (number ?? sha?.toLowerCase() ?? []) : [];
  });
  return [...new Set(found)].slice(0, mostReverted);
}
