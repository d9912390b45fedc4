import { internalOperations } from '@muster/registry';
import { handle } from '@muster/runtime';
import { readStoryFiles } from '../../data/touches.ts';
import { compareWithTouches } from '../../rules/touches.ts';

/** The most files that are suggested as touches of a story. */
const maxSuggestedFiles = 10;

export const storyTouches = handle(internalOperations.storyTouches, async ({ targetId, db }) => {
  const { touches, files, similarFiles } = await readStoryFiles(db, targetId);
  const isComparable = files.length > 0 && touches.length > 0;
  const check = isComparable ? compareWithTouches(files, touches) : { outside: [], untouched: [] };
  const suggested =
    touches.length > 0 && similarFiles.length > 0
      ? compareWithTouches(similarFiles, touches)?.outside
      : similarFiles;
  if (check === null || suggested === undefined) return { touches: null };
  return { touches: { ...check, suggested: suggested.slice(0, maxSuggestedFiles) } };
});
