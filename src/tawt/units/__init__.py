"""What a weight is put on: a task, a group of its examples, or each of them.

Units are numbers: those of the first task, those of the second, and so on. No object is made for an
example, so that there may be millions.
"""

from tawt.units.coded import Coded, Numbers
from tawt.units.parts import EachExample, Groups, TaskUnits, Whole
from tawt.units.units import Units

__all__ = ["Coded", "EachExample", "Groups", "Numbers", "TaskUnits", "Units", "Whole"]
