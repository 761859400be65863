// Generated ids. As texts they sort by age.

/** `n_0001` to `n_9999`, then `n_A10000`: as texts, ids sort by their numbers. */
export const idWithNumber = (prefix, number) => {
  const digits = String(number);
  return digits.length <= 4 ? prefix + digits.padStart(4, "0") : prefix + String.fromCharCode(60 + digits.length) + digits;
};

/** The number in such an id; `undefined` if it is no id with this prefix. */
export const numberInId = (prefix, id) => {
  const digits = id.startsWith(prefix) ? id.slice(prefix.length).replace(/^[A-Z]/, "") : "";
  return /^\d+$/.test(digits) && idWithNumber(prefix, Number(digits)) === id ? Number(digits) : undefined;
};
