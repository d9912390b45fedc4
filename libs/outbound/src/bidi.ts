/**
 * Removes bidirectional control characters, because such a character in a name would reverse the text next to
 * it.
 */
export const removeBidiControls = (text: string): string => text.replace(/\p{Bidi_Control}/gu, '');
