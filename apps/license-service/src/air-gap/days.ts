/** The default validity of an offline answer, in days. Afterwards people must carry a new one to the machine. */
export const defaultOfflineDays = 30;
export const maxOfflineDays = 366;
