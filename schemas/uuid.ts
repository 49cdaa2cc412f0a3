/**
 * A UUID of any version, in lower or upper case. In a file without TypeBox, because loading TypeBox
 * takes longer than most commands of `mp` run.
 */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
