/** The console's own addresses of attachments, which stay valid, unlike the addresses of downloads. */

export const fileAddressOf = (attachmentId: string): string => `/console/files/${attachmentId}`;

const fileAddressPattern = /^\/console\/files\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

/** Returns the id of the attachment if the address is the console's page of one. */
export const parseFileAddress = (address: string): string | undefined =>
  fileAddressPattern.exec(address)?.[1];

/** The media types that the API serves for display. It serves all others as downloads. */
const imageTypes: ReadonlySet<string> = new Set([
  ...['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'],
]);

export const isImage = ({ contentType }: { readonly contentType: string }): boolean =>
  imageTypes.has(contentType);

/** The types of videos that the API serves for display. */
const videoTypes: ReadonlySet<string> = new Set(['video/mp4', 'video/webm']);

export const isVideo = ({ contentType }: { readonly contentType: string }): boolean =>
  videoTypes.has(contentType);

/** Returns Markdown that links to the attachment, and shows it if it is an image. */
export function fileMarkdown(attachment: {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
}): string {
  const name = attachment.name.replaceAll(/[\\[\]*_`<>]/g, '\\$&');
  return `${isImage(attachment) ? '!' : ''}[${name}](${fileAddressOf(attachment.id)})`;
}
