import { internalOperations } from '@muster/contract';
import { isNameResource } from '@muster/contract/globs';
import { handle } from '@muster/runtime';
import { readStoryFiles } from '../../data/touches.ts';
import { compareWithTouches } from '../../rules/touches.ts';

/** The most files that are suggested as touches of a story. */
const maxSuggestedFiles = 10;

export const storyTouches = handle(internalOperations.storyTouches, async ({ targetId, db }) => {
  const { touches, files, similarFiles } = await readStoryFiles(db, targetId);
  const paths = touches.filter((text) => !isNameResource(text));
  const check =
    files.length > 0 && paths.length > 0 ? compareWithTouches(files, paths) : { outside: [], untouched: [] };
  const suggested =
    similarFiles.length > 0 && paths.length > 0
      ? compareWithTouches(similarFiles, paths)?.outside
      : similarFiles;
  if (check === null || suggested === undefined) return { touches: null };
  return { touches: { ...check, suggested: suggested.slice(0, maxSuggestedFiles) } };
});
