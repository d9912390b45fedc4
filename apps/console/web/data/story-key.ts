/** Returns the key of the project of a story, as in `WEB-12`. */
export const projectKeyOf = (storyKey: string): string => storyKey.slice(0, storyKey.lastIndexOf('-'));
