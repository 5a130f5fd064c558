export { OpenTimes, type WindowAnswer } from './open-times.ts';
