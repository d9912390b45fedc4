/** Links to pages of the console, for mails and chat messages. */

export const consoleUrlOf = (baseUrl: string): string => `${baseUrl.replace(/\/+$/, '')}/console`;

/** Returns the URL of a story's page. */
export const consoleStoryLink = (consoleUrl: string, storyKey: string): string =>
  `${consoleUrl}/s/${encodeURIComponent(storyKey)}`;
