/** The default validity of an offline answer, in days. Afterwards people must carry a new one to the machine. */
export const usualDays = 30;
export const mostDays = 366;
