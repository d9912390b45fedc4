/** How long a machine may run by an answer that people carry to it, unless said: they have to carry the next one too. */
export const usualDays = 30;
export const mostDays = 366;
