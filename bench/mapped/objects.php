<?php
$kept = [];
for ($i = 0; $i < (int)$argv[1]; $i++) $kept[] = "x" . $i;
echo count($kept), "\n";
