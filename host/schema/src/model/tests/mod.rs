mod pattern;
